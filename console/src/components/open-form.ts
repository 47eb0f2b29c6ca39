import { useEffect } from "react";

/** How many open forms on the page may hold input. */
let count = 0;

export function isFormOpen(): boolean {
  return count > 0;
}

/** Counts a form while it is open: it stays on the page when the session ends. */
export function useOpenForm(open: boolean): void {
  useEffect(() => {
    if (!open) return;
    count += 1;
    return () => {
      count -= 1;
    };
  }, [open]);
}
