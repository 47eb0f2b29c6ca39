import { useBlocker } from "@tanstack/react-router";
import { LeaveDialog } from "./leave-dialog.tsx";
import { leaves } from "./leaves.ts";
import { useOpenForm } from "./open-form.ts";

interface LeaveGuardProps {
  readonly dirty: boolean;
  /** URL parameters that keep the form open: if the tab changes, the input is lost too. */
  readonly openedBy?: readonly string[];
}

/** Asks for confirmation before the user leaves a page with unsaved changes. Drawers and dialogs ask themselves. */
export function LeaveGuard({ dirty, openedBy = [] }: LeaveGuardProps) {
  useOpenForm(dirty);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && leaves(current, next, openedBy),
    enableBeforeUnload: dirty,
    withResolver: true,
  });
  return <LeaveDialog opened={status === "blocked"} onStay={() => reset?.()} onLeave={() => proceed?.()} />;
}
