import { EmptyState as Empty } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  /** The purpose of the list, for a reader who has no entries yet. */
  readonly children: ReactNode;
  /** The button that creates the first item. */
  readonly action?: ReactNode;
}

/** Shown for an empty list: explains what belongs here and how to create the first item. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <Empty icon={icon} title={title} description={children} size="sm" py="xl" px="md">
      {action === undefined ? null : <Empty.Actions>{action}</Empty.Actions>}
    </Empty>
  );
}
