# shellcheck shell=bash
# deploy/test runs its steps and counts their tests with this; sourced. What was skipped is never counted as passed. A step fails
# that has no tests, that ends with another status than 0 (whatever its own line says), that takes longer than its limit, or
# that leaves a process or a temporary file behind (Tests/Counting/contain). Tests/Counting/run is the test of this.

passed=0
failed=0
skipped=0
# The steps that ran, and their seconds, a line each.
times=
# The step that runs, and what shows its output.
running=
viewer=
# The words before each line that is shown, where several steps run beside each other.
prefix=
logs=$(mktemp -d)
contain=("$(dirname "${BASH_SOURCE[0]}")/contain")

# A stop of deploy/test ends the steps too.
end_counting() {
    local job
    for job in $(jobs -p); do kill -TERM "$job" 2>/dev/null; done
    wait
    rm -rf "$logs"
}
trap end_counting EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# tally PASSED FAILED SKIPPED: the line with which a suite ends.
tally() {
    local line="$1 passed, $2 failed"
    [ "$3" -eq 0 ] || line+=", $3 skipped"
    echo "$line"
}

# count STEP PASSED FAILED SKIPPED SECONDS [MORE]: adds a step's tests.
count() {
    passed=$((passed + $2))
    failed=$((failed + $3))
    skipped=$((skipped + $4))
    times+="$5 $1"$'\n'
    echo "== $1: $(tally "$2" "$3" "$4") ($5 s${6:-})"
}

# build NAME LIMIT COMMAND...: builds what steps run. One that fails is a failure of its own.
build() {
    local began=$SECONDS status
    # SwiftPM leaves its locks in the folder for temporary files.
    local contain=(timeout --kill-after=30)
    limited "build-$1" "$2" '' "${@:3}"
    status=$?
    times+="$((SECONDS - began)) build $1"$'\n'
    echo "== build $1: $((SECONDS - began)) s"
    [ "$status" -eq 0 ] || {
        count "build $1" 0 1 0 0 ", it does not build"
        what_failed "build-$1"
    }
    return "$status"
}

# beside: reads steps, a line each as they would be called, and runs $lanes of them at a time. The first ones
# should be the longest.
beside() {
    local line number=0 each
    while read -r line; do
        [ -n "$line" ] || continue
        number=$((number + 1))
        while [ "$(jobs -pr | wc -l)" -ge "${lanes:-3}" ]; do wait -n; done
        in_a_lane "$number" "$line" &
    done
    wait
    for each in $(seq "$number"); do
        if [ -s "$logs/lane-$each" ]; then
            # shellcheck source=/dev/null
            . "$logs/lane-$each"
        else
            count "step $each" 0 1 0 0 ", it ended without a count"
        fi
    done
}

# in_a_lane NUMBER LINE: a step beside others. It hands on what it has counted.
in_a_lane() {
    trap 'kill -TERM "$running" 2>/dev/null; exit 143' TERM
    trap - EXIT
    passed=0 failed=0 skipped=0 times=
    # The name of the step is the line's second word.
    prefix=$(awk '{print $2}' <<<"$2")
    eval "$2"
    {
        echo "passed=\$((passed + $passed)) failed=\$((failed + $failed)) skipped=\$((skipped + $skipped))"
        printf 'times+=%q\n' "$times"
    } >"$logs/lane-$1.part"
    mv "$logs/lane-$1.part" "$logs/lane-$1"
}

# swift_tests STEP SECONDS COMMAND...: runs Swift Testing and counts its tests.
swift_tests() { step "$1" "$2" swift_counts '^(◇|↳|✔ (Test|Suite)|\[[0-9]+/[0-9]+\])' "${@:3}"; }

# suite STEP SECONDS COMMAND...: runs what ends with a line "N passed, M failed", and counts its tests.
suite() { step "$1" "$2" suite_counts '' "${@:3}"; }

# step STEP SECONDS COUNTS HIDDEN COMMAND...: COUNTS reads the step's output, of which lines that match HIDDEN are not shown.
step() {
    local step=$1 limit=$2 counts=$3 began=$SECONDS status why='' numbers seconds
    limited "$step" "$limit" "$4" "${@:5}"
    status=$?
    seconds=$((SECONDS - began))
    numbers=$("$counts" "$logs/$step")
    # shellcheck disable=SC2086  # three words
    set -- $numbers
    if [ "$status" -eq 124 ]; then
        why="took longer than its limit of $limit seconds"
        set -- "${1:-0}" $((${2:-0} + 1)) "${3:-0}"
    elif [ $# -ne 3 ]; then
        why="does not say how many tests passed, and ended with status $status"
        set -- 0 1 0
    elif [ "$status" -eq 125 ]; then
        why="left something behind"
        set -- "$1" $(($2 + 1)) "$3"
    elif [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        why="ended with status $status"
        set -- "$1" 1 "$3"
    elif [ $(($1 + $2 + $3)) -eq 0 ]; then
        why="has no tests"
        set -- 0 1 0
    fi
    [ -z "$why" ] || echo "== $step $why"
    count "$step" "$1" "$2" "$3" "$seconds" ", limit $limit s"
    [ "$2" -eq 0 ] || what_failed "$step" "${why:+$step $why}"
}

# what_failed STEP [WHY]: keeps the lines that say so for the end, where somebody who sees no more than that finds them.
what_failed() {
    {
        [ -z "${2:-}" ] || echo "$2"
        awk '/^(FAIL|✘|It left behind)|error:/ { left = 6 } /^(ok|✔|◇|skip)/ { left = 0 } left-- > 0 { print substr($0, 1, 300) }' "$logs/$1" | head -n 40
    } | sed "s/^/$1: /" >>"$logs/failures"
}

# failures: what failed, after everything else.
failures() {
    [ ! -s "$logs/failures" ] || {
        echo "== what failed"
        cat "$logs/failures"
    }
}

# limited NAME SECONDS HIDDEN COMMAND...: runs a command with its output in the file NAME and shown, and ends it after a time.
limited() {
    local status file=$logs/$1 hidden=$3
    : >"$file"
    "${contain[@]}" "$2" "${@:4}" >"$file" 2>&1 </dev/null &
    running=$!
    # Not through a pipe from the command itself: what it leaves running would keep that open.
    {
        tail --lines=+1 --follow --sleep-interval=0.2 --pid="$running" "$file" |
            grep --line-buffered -vE "${hidden:-^\$.}" | sed -u "s/^/${prefix:+$prefix: }/"
    } &
    viewer=$!
    wait "$running"
    status=$?
    running=
    wait "$viewer"
    viewer=
    return "$status"
}

# suite_counts FILE: passed, failed and skipped of a suite's last line; nothing where there is none.
suite_counts() {
    grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$1" | tail -n 1 |
        sed -E 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2 0/; s/ (passed|failed|skipped),?//g'
}

# swift_counts FILE: the same of Swift Testing. The number in its last line has the skipped tests in it; a run without that
# line has crashed.
swift_counts() {
    local run failures skips
    run=$(grep -oE '^. Test run with [0-9]+ tests?' "$1" | tail -n 1 | grep -oE '[0-9]+')
    failures=$(grep -E '^✘ Test .* failed after' "$1" | grep -vcE '^✘ Test run with')
    skips=$(grep -cE '^➜ Test .* (skipped\.|skipped: |was cancelled after)' "$1")
    if [ -z "$run" ]; then
        run=$(grep -E '^✔ Test .* passed after' "$1" | grep -vcE '^✔ Test run with')
        # The test that was under way.
        failures=$((failures + 1))
        run=$((run + failures + skips))
    fi
    echo "$((run - failures - skips)) $failures $skips"
}
