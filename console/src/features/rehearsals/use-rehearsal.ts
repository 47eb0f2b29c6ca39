import type { Rehearsal } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";

const refreshMs = 700;

export function isOpen({ state }: Pick<Rehearsal, "state">): boolean {
  return state === "waiting" || state === "running";
}

/** A rehearsal with its progress, until it is over, and a way to cancel it. `id` null: none was started. */
export function useRehearsal(id: string | null) {
  const settings = { params: { rehearsal: id ?? "-" }, enabled: id !== null };
  const loaded = useCall("rehearsals.get", settings);
  const open = loaded.data !== undefined && isOpen(loaded.data);
  const { data, error, refetch } = useCall("rehearsals.get", { ...settings, everyMs: open && refreshMs });
  const cancel = useAct("rehearsals.cancel", { invalidates: ["rehearsals.get", "rehearsals.list"] });
  return {
    rehearsal: data ?? null,
    problem: error,
    reload: () => void refetch(),
    isCancelling: cancel.isPending,
    cancel: () => id !== null && cancel.mutate({ params: { rehearsal: id } }),
  };
}
