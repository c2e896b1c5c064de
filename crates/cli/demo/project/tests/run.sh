#!/bin/sh
# Runs the tests of the folder where it is started: each line of tests/*.test is COMMAND => OUTPUT.
total=0
passed=0
for file in tests/*.test; do
    while IFS= read -r line; do
        command=${line%% => *}
        expected=${line##* => }
        got=$(sh -c "$command" 2>&1 </dev/null)
        total=$((total + 1))
        if [ "$got" = "$expected" ]; then
            passed=$((passed + 1))
        else
            echo "FAIL $command: $got instead of $expected"
        fi
    done <"$file"
done
echo "$passed of $total tests pass"
[ "$passed" -eq "$total" ]
