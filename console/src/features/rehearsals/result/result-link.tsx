import { Anchor } from "@mantine/core";
import { everyWorkspace, type Rehearsal } from "@sluice/contract";
import { Link, type LinkProps } from "@tanstack/react-router";
import { createContext, type ReactNode, use } from "react";

interface ResultPlace {
  readonly rehearsal: Pick<Rehearsal, "workspace" | "from" | "to">;
  /** Links open another tab, because the form below the dialog is not saved. */
  readonly inDialog: boolean;
}

export const ResultPlaceContext = createContext<ResultPlace>({
  rehearsal: { workspace: null, from: 0, to: 0 },
  inDialog: false,
});

interface RequestsLinkProps {
  /** Filters of the requests page: `{ key: "key_1" }`. */
  readonly filter: Readonly<Record<string, string>>;
  /** Slug. Default: of the rehearsal. */
  readonly workspace?: string;
  /** Unix milliseconds. Default: the period. */
  readonly from?: number;
  readonly to?: number;
  readonly children: ReactNode;
}

/** The requests of the period that the filter finds, refused or not. */
export function RequestsLink({ filter, workspace, from, to, children }: RequestsLinkProps) {
  const { rehearsal } = use(ResultPlaceContext);
  const search = {
    workspace: workspace ?? rehearsal.workspace?.slug ?? everyWorkspace,
    from: String(from ?? rehearsal.from),
    to: String(to ?? rehearsal.to),
    ...filter,
  };
  return (
    <ResultLink className="break" to="/requests" search={search}>
      {children}
    </ResultLink>
  );
}

interface RequestLinkProps {
  readonly request: string;
  readonly workspace: string;
  readonly children: ReactNode;
}

export function RequestLink({ request, workspace, children }: RequestLinkProps) {
  return (
    <ResultLink to="/requests/$request" params={{ request }} search={{ workspace }}>
      {children}
    </ResultLink>
  );
}

interface PolicyLinkProps {
  /** Of a counter of the policy: `bgt_1~…/search`. Unsaved: `rehearsed …/opus~…`. */
  readonly id: string;
  /** Slug. Default: of the rehearsal. */
  readonly workspace?: string;
  readonly children: ReactNode;
}

/** The limits page, with the form of a saved policy open if it is one of the workspace. */
export function PolicyLink({ id, workspace, children }: PolicyLinkProps) {
  const { rehearsal } = use(ResultPlaceContext);
  const [budget = ""] = id.split("~");
  const saved = budget.includes(" ") ? {} : { budget };
  const search = { workspace: workspace ?? rehearsal.workspace?.slug ?? everyWorkspace, ...saved };
  return (
    <ResultLink className="break" to="/limits" search={search}>
      {children}
    </ResultLink>
  );
}

type ResultLinkProps = LinkProps & { readonly className?: "break"; readonly children: ReactNode };

function ResultLink({ className, children, ...link }: ResultLinkProps) {
  const { inDialog } = use(ResultPlaceContext);
  return (
    <Anchor
      fz="inherit"
      {...(className === undefined ? {} : { className })}
      renderRoot={(props) => <Link {...link} {...(inDialog ? { target: "_blank" } : {})} {...props} />}
    >
      {children}
    </Anchor>
  );
}
