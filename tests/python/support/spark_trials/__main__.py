"""Runs trials on a session of their own: ``python -m support.spark_trials MASTER DIRECTORY TRIAL...``.

For each trial it writes a line of JSON.
"""

import json
import sys
import time
import traceback

import windrow as wr
from support.spark_trials import trials
from support.spark_trials.session import Trials, session


def main():
    master, directory, *names = sys.argv[1:]
    spark = session(master, directory)
    on = Trials(spark, directory)
    for name in names:
        begin = time.monotonic()
        said = None
        try:
            on.begin()
            with wr.config(engine="windrow"):
                getattr(trials, name)(on)
                on.check_session()
        except BaseException:
            said = traceback.format_exc()
        facts = {"trial": name, "said": said, "seconds": round(time.monotonic() - begin, 1)}
        print(json.dumps(facts), flush=True)  # noqa: T201 - this is what it is asked for
    spark.stop()


if __name__ == "__main__":
    main()
