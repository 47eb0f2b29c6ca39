import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";

interface RefreshButtonProps {
  readonly loading: boolean;
  /** Refetches the list. Resolves when the answer has arrived. */
  readonly onRefresh: () => unknown;
  readonly children: string;
}

/** Reloads the list of a page, with a loading state until the response arrives, because the list may not change. */
export function RefreshButton({ loading, onRefresh, children }: RefreshButtonProps) {
  const [refreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    try {
      await onRefresh();
    } finally {
      setRefreshing(false);
    }
  };
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={15} aria-hidden />}
      onClick={() => void refresh()}
      loading={loading || refreshing}
    >
      {children}
    </Button>
  );
}
