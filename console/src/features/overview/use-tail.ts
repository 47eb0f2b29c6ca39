import { useEffect, useReducer, useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { emptyTail, nextTail, tailRowsMax } from "./tail-rows.ts";
import { TailSource, type TailState } from "./tail-source.ts";

const linesAtFirst = 25;

/** The latest requests, and new ones as they end. Calls `onFirst` for the first new one. */
export function useTail(onFirst: () => void) {
  const { path } = useWorkspace();
  const [rows, step] = useReducer(nextTail, emptyTail);
  const [state, setState] = useState<TailState>("opening");
  const [dropped, setDropped] = useState(0);
  const [opened, open] = useReducer((times: number) => times + 1, 0);
  const latest = useCall("requests.list", { params: { workspace: path }, query: { limit: linesAtFirst } });
  useEffect(() => {
    if (latest.data !== undefined) step({ kind: "begin", rows: latest.data.data });
  }, [latest.data]);
  const { refetch } = latest;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `opened` begins it anew after it has ended.
  useEffect(() => {
    let first = true;
    let gap = false;
    const source = new TailSource(path, {
      onState: (next) => {
        setState(next);
        // The stream only has requests that end from now on; earlier ones come from the list.
        if (next === "open" && gap) void refetch();
        if (next === "open") gap = true;
      },
      onDropped: (lost) => setDropped((before) => before + lost),
      onRows: (news) => {
        step({ kind: "rows", rows: news });
        if (first) onFirst();
        first = false;
      },
    });
    return source.start();
  }, [path, opened, onFirst, refetch]);
  return {
    ...rows,
    state,
    dropped,
    loading: latest.isPending && rows.shown.length === 0,
    problem: rows.shown.length === 0 ? latest.error : null,
    reload: () => void latest.refetch(),
    pause: () => step({ kind: "pause" }),
    resume: () => step({ kind: "resume" }),
    open,
    rowsMax: tailRowsMax,
  };
}
