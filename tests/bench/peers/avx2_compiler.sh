#!/usr/bin/env bash
# g++ for torch.compile on the AVX2 path: the machine it would compile for has more, and what it makes with both in mind crashes.
exec g++ "${@/#-march=native/-march=haswell}"
