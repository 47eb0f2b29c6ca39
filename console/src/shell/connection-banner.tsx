import { Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { isConnectionLost, onConnectionChange } from "../client/connection.ts";
import { t } from "../language/areas/shell.ts";

/** Shown on every page while the gateway does not answer. Afterwards everything on the page is loaded again. */
export function ConnectionBanner() {
  const lost = useSyncExternalStore(onConnectionChange, isConnectionLost);
  const queries = useQueryClient();
  useEffect(() => {
    if (!lost) return;
    return () => void queries.invalidateQueries();
  }, [lost, queries]);
  return (
    <div role="status" className="connection-banner" data-lost={lost || undefined}>
      {lost && (
        <>
          <Loader size={14} color="currentColor" aria-hidden />
          {t("shell.connection.lost")}
        </>
      )}
    </div>
  );
}
