import { lazy, Suspense, useSyncExternalStore } from "react";
import { useConfirmation } from "../api/confirmation-context.tsx";
import { loadChunk } from "../routes/load-chunk.ts";

const ConfirmDialog = lazy(() => loadChunk(() => import("./confirm-sign-in-dialog.tsx")));

/** Opens when a call needs a fresh sign-in; the call waits for it. */
export function ConfirmSignIn() {
  const { watch, isOpen: asked, answer } = useConfirmation();
  const open = useSyncExternalStore(watch, asked);
  return <Suspense>{open && <ConfirmDialog onAnswer={answer} />}</Suspense>;
}
