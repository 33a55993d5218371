"""What goes wrong on purpose inside Spark: workers and executors killed, files lost, jobs cancelled.

spark/test_task_failures.py asks for these trials on the session that all tests share, and for those that need a session
of their own in a process of its own (``__main__``). Spark's workers import this package too.
"""
