"""Run the comparison: `python -m benchmarks.versus --help`, in the root of the repository."""

from benchmarks.versus.run import main

if __name__ == "__main__":
    main()
