import type { TablerIcon } from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import type { VendorIcon } from "../components/vendors/icons.ts";

export interface Command {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly detail: string | null;
  /** Other words that find it. */
  readonly words?: string;
  readonly icon: TablerIcon;
  /** Replaces the icon. */
  readonly logo?: VendorIcon | null;
  readonly link: LinkProps;
  /** An action to run instead of opening a page. */
  readonly act?: () => void;
  /** A verb that needs an object, which the palette asks for next. */
  readonly verb?: Verb;
}

/** Verbs with an object: "Revoke key…". */
export type Verb = "revokeKey" | "rotateKey" | "editKey" | "disablePerson" | "switchWorkspace";
