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

/** Shown for an empty list: explains what belongs here and how to create the first. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <Empty icon={icon} title={title} description={children} size="sm" py="xl" px="md">
      {action === undefined ? null : <Empty.Actions>{action}</Empty.Actions>}
    </Empty>
  );
}
