import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface KeyLinkProps {
  /** An id. */
  readonly id: string;
  /** A slug. */
  readonly workspace: string;
  /** Underlines the link, so that it can be recognized within a sentence. */
  readonly underlined?: boolean;
  readonly children: ReactNode;
}

/** Links to the page of a key. */
export function KeyLink({ id, workspace, underlined = false, children }: KeyLinkProps) {
  return (
    <Anchor
      fz="inherit"
      {...(underlined ? { underline: "always" } : {})}
      renderRoot={(props) => <Link to="/keys/$key" params={{ key: id }} search={{ workspace }} {...props} />}
    >
      {children}
    </Anchor>
  );
}
