import { useEffect } from "react";

/** How many forms stand open in the page in which something may have been typed. */
let count = 0;

export function isFormOpen(): boolean {
  return count > 0;
}

/** Counts a form as long as it is open: it is not taken off the page because the session has ended meanwhile. */
export function useOpenForm(open: boolean): void {
  useEffect(() => {
    if (!open) return;
    count += 1;
    return () => {
      count -= 1;
    };
  }, [open]);
}
