import { useCall } from "../../api/use-call.ts";
import { useWorkspace } from "../../session/workspace.ts";

const refreshMs = 60_000;

/** The cost of this month and the previous one. */
export function useMonth() {
  const { path } = useWorkspace();
  return useCall("usage.month", { params: { workspace: path }, everyMs: refreshMs, keepBefore: true });
}
