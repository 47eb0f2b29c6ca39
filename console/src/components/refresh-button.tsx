import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";

interface RefreshButtonProps {
  readonly loading: boolean;
  /** Resolves when what it asks for has come. */
  readonly onRefresh: () => unknown;
  readonly children: string;
}

/** Asks for a page's list anew, and shows that it does until the answer is there: it may be the same as before. */
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
