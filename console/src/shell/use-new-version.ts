import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

/** After an upgrade of the gateway, the next page is loaded anew. A form on the page is not lost: leaving it asks first. */
export function useNewVersion(version: string | null | undefined): void {
  const router = useRouter();
  const first = useRef(version);
  first.current ??= version;
  const isNew = version != null && version !== first.current;
  useEffect(() => {
    if (!isNew) return;
    return router.subscribe("onBeforeLoad", ({ pathChanged }) => {
      if (!pathChanged) return;
      // The router writes the new address a moment later.
      router.history.flush();
      location.reload();
    });
  }, [isNew, router]);
}
