a + b
a - b
a * b
i + j
i - j
i * j
k + k
h + k
h * h
i + a
a + 1
1 - i
i * 3
a * -2
i + k
x + y
x - i
x * 2
f + 1
f * f
f + x
f * 1.5
x + 0.5
m + q
m - 1
m * q
m * 3
2 * m
m + i
m * 1.5
m + x
- a
- i
- x
- m
+ a
d + 1
d - 7
3 + d
d - e
ts - ts
n - n
d + interval 1 day
d - interval '1' month
d + interval '2' year
n + interval 90 minutes
n - interval '1' month
n + interval '36' hour
ts + interval 1 hour
ts - interval '2' day
interval 1 day + d
a / b
i / j
x / y
a / 2
x / 10
7 / i
f / 3
m / 3
m / q
m / i
x / m
try_divide(a, b)
try_divide(x, y)
a div b
i div j
i div 2
a % b
i % j
k % 3
mod(i, j)
pmod(i, 7)
pmod(a, 10)
a & b
i | j
a ^ i
~ i
abs(a)
abs(i)
abs(x)
abs(m)
negative(i)
positive(x)
sign(x)
signum(i)
sqrt(x)
sqrt(abs(i))
exp(y)
ln(x)
log(x)
log(2, x)
log2(abs(x))
log10(abs(x))
log1p(x)
pow(y, 2)
power(i, 2)
ln(m)
floor(x)
ceil(x)
ceiling(f)
floor(i)
floor(a)
round(x)
round(x, 1)
round(x, 2)
round(x, 3)
round(x, -1)
round(x, -2)
round(i)
round(a, 2)
round(m, 1)
round(q, 2)
round(q)
round(m, 5)
isnan(x)
isnan(f)
isnan(i)
a = b
a < i
i <= j
x > y
x = y
x < i
f = 0.5
x >= 0.5
m > 2
m = q
m < i
m > x
s = t
s < t
s >= 'b'
d < e
d = '2024-01-01'
d >= DATE '2020-05-05'
n > '2024-01-01 00:00:00'
ts > TIMESTAMP '2023-06-01 12:00:00'
n < d
p = true
a <=> b
x <=> y
s <=> null
a is distinct from b
x <> y
d - e > interval '3' day
i between 0 and 100
x between -1.5 and y
s between 'a' and 'b'
i in (1, 2, 3)
i in (1, null)
s in ('ab', '12', 'x')
x in (0.5, 3)
i not in (1, 2)
a in (i, j)
p and i > 0
p or i > 0
not p
p is true
p is not false
i is null
s is not null
i > 0 and a / i > 1
i = 0 or a / i > 1
p and null
p or null
case when i > 0 then a when p then 0 end
case when i > 0 then 1 else 2.5 end
case when j <> 0 then i / j end
case i when 1 then 'a' else 'b' end
if(p, i, a)
if(j = 0, 0, i div j)
coalesce(a, i, 0)
coalesce(x, 1)
coalesce(m, 0)
coalesce(s, t)
nvl(i, 0)
ifnull(x, y)
nvl2(i, s, t)
nullif(i, 0)
nullif(s, 'ab')
greatest(a, b)
least(x, y)
greatest(i, 1.5)
least(d, e)
greatest(s, t, 'm')
isnull(x)
isnotnull(s)
equal_null(i, j)
cast(a as int)
cast(a as smallint)
cast(i as tinyint)
cast(i as bigint)
cast(x as int)
cast(x as bigint)
cast(f as int)
cast(m as int)
cast(i as double)
cast(a as double)
cast(a as float)
cast(x as float)
cast(m as double)
cast(q as float)
cast(i as decimal(10,2))
cast(a as decimal(6,1))
cast(m as decimal(8,1))
cast(q as decimal(14,2))
cast(m as decimal(20,6))
cast(x as decimal(10,2))
cast(x as decimal(12,0))
cast(y as decimal(5,3))
cast(i as boolean)
cast(x as boolean)
cast(p as int)
cast(p as double)
cast(s as int)
cast(s as bigint)
cast(s as double)
cast(s as boolean)
try_cast(s as int)
try_cast(s as double)
try_cast(s as boolean)
try_cast(a as int)
cast(i as string)
cast(m as string)
cast(p as string)
cast(d as string)
cast(ts as string)
cast(n as string)
cast(ts as date)
cast(n as date)
cast(d as timestamp_ntz)
cast(d as timestamp)
cast(ts as timestamp_ntz)
cast(n as timestamp)
cast(ts as bigint)
cast(ts as double)
cast(i as timestamp)
cast(s as date)
try_cast(s as date)
cast('2024-02-29' as date)
to_date('2024-01-31')
int(x)
string(i)
double(m)
float(i)
bigint(i)
i :: double
boolean(i)
16777217 :: float
upper(s)
lower(s)
ucase(t)
lcase(s)
length(s)
char_length(s)
len(t)
octet_length(s)
bit_length(s)
trim(s)
ltrim(s)
rtrim(s)
trim(both 'x' from s)
trim(leading 'ax' from s)
ltrim('x', s)
rtrim('xa', s)
substr(s, 2)
substr(s, 2, 2)
substr(s, 0, 2)
substr(s, -2, 1)
substr(s, -9, 6)
substring(s, -3)
substring(s from 2 for 1)
substr(s, j, 2)
substr(s, 1, -1)
left(s, 2)
left(s, 0)
right(s, 2)
right(s, -1)
concat(s, '-', i)
s || t
s || i
concat(s, null)
concat('x', d)
concat('', ts)
concat(m, p)
concat_ws('-', s, t, i)
concat_ws(',', s)
replace(s, 'a', 'zz')
replace(s, 'x')
replace(s, '', 'q')
lpad(s, 4, '*')
rpad(s, 4, '*')
lpad(s, 1, '*')
lpad(s, 5)
instr(s, 'l')
instr(s, t)
locate(t, s)
position('b' in s)
contains(s, t)
startswith(s, 'a')
endswith(s, t)
reverse(s)
s like 'a%'
s like '%b_c'
s like 'a\\%b%'
s not like '_b'
s like 'a!%b%' escape '!'
s ilike 'AB%'
s like '%'
s like 'a_b'
s rlike '^a'
s rlike 'a.b'
s rlike 'c$'
s rlike '[0-9]+'
s rlike '\\d'
s rlike '(x|h)'
regexp_like(s, 'l{2}')
year(d)
month(d)
day(d)
dayofmonth(e)
quarter(d)
dayofyear(d)
dayofweek(d)
weekday(d)
weekofyear(d)
year(ts)
month(n)
hour(ts)
minute(n)
second(ts)
extract(year from d)
extract(week from d)
extract(dow from d)
extract(doy from n)
extract(hour from ts)
extract(dayofweek_iso from d)
date_add(d, 3)
date_add(d, i)
date_sub(d, k)
dateadd(d, 1)
add_months(d, 1)
add_months(d, -13)
datediff(d, e)
date_diff(e, d)
trunc(d, 'MM')
trunc(d, 'year')
trunc(d, 'WEEK')
trunc(d, 'quarter')
l[0]
l[1]
l[j]
get(l, 5)
get(l, k)
1.5
1e2
7L
2D
'it''s'
1 = 1.0
0.1 + 0.2
1.50 * 3
7.0 / 10
5 / 2
2 + 3
interval '1' day
null
3000000000
99999999999999999999
cast(0.1 as float)
1.5BD + 1
