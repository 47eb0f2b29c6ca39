import { EmptyState as Empty } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  /** What this would be, and why one wants it. */
  readonly children: ReactNode;
  /** The button that makes the first. */
  readonly action?: ReactNode;
}

/** Where nothing is yet: says what would be here and how to make the first. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <Empty icon={icon} title={title} description={children} size="sm" py="xl" px="md">
      {action === undefined ? null : <Empty.Actions>{action}</Empty.Actions>}
    </Empty>
  );
}
