import { everyWorkspace, type Need, type SessionAnswer } from "@sluice/contract";
import { useMemo } from "react";
import { useUrlChange, useUrlText } from "../routes/search.ts";
import { useSession } from "./session-context.tsx";

/** The workspace of the page, held in the URL, so that a link shows the same to others. */
export interface ChosenWorkspace {
  /** Value for `params.workspace`: a slug, or `-` for every workspace. */
  readonly path: string;
  /** null: all workspaces (for an administrator), or the user has none. */
  readonly slug: string | null;
  readonly all: boolean;
  /** The user belongs to no workspace and is not an administrator. */
  readonly none: boolean;
  readonly choose: (slug: string | null) => void;
  /** Whether the user has a role here. For all workspaces: whether the user is an administrator. */
  readonly may: (need: Need) => boolean;
}

export function useWorkspace(): ChosenWorkspace {
  const { answer, may } = useSession();
  const [urlWorkspace] = useUrlText("workspace");
  const change = useUrlChange();
  return useMemo(() => {
    const slug = chosenSlug(answer, urlWorkspace);
    return {
      path: slug ?? everyWorkspace,
      slug,
      all: slug === null && answer.user?.administrator === true,
      none: slug === null && answer.user?.administrator !== true,
      choose: (next) => change({ workspace: next ?? "" }),
      may: (need) => may(need, slug),
    };
  }, [answer, urlWorkspace, change, may]);
}

/** Administrators may view any workspace or all; others their own, by default the first. */
export function chosenSlug(answer: SessionAnswer, requested: string): string | null {
  if (answer.user?.administrator === true) return requested === "" ? null : requested;
  const mine =
    answer.workspaces.find((each) => each.slug === requested || each.id === requested) ?? answer.workspaces[0];
  return mine?.slug ?? null;
}
