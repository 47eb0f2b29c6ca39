import type { TablerIcon } from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";

export interface Command {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly detail: string | null;
  readonly icon: TablerIcon;
  readonly link: LinkProps;
  /** An action to run instead of opening a page. */
  readonly act?: () => void;
}
