import { everyWorkspace, type Need, type SessionAnswer } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { useUrlChange, useUrlText } from "../routes/search.ts";
import {
  type RememberedWorkspace,
  rememberChoice,
  rememberedWorkspace,
  rememberVisit,
} from "./remembered-workspace.ts";
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
  /** Switches all pages, now and after the next sign-in. null: all workspaces. */
  readonly choose: (slug: string | null) => void;
  /** Whether the user has a role here. For all workspaces: whether the user is an administrator. */
  readonly may: (need: Need) => boolean;
}

export function useWorkspace(): ChosenWorkspace {
  const { answer, user, may } = useSession();
  const [urlWorkspace] = useUrlText("workspace");
  const change = useUrlChange();
  const navigate = useNavigate();
  return useMemo(() => {
    const slug = chosenSlug(answer, urlWorkspace, rememberedWorkspace(user.id).chosen);
    const all = slug === null && user.administrator;
    return {
      path: slug ?? everyWorkspace,
      slug,
      all,
      none: slug === null && !user.administrator,
      choose: (next) => {
        rememberChoice(user.id, next);
        const workspace = next ?? everyWorkspace;
        const list = listOfDetailPage(location.pathname);
        if (list === null) change({ workspace });
        else if (list !== "/workspaces" || next === null) void navigate({ to: list, search: { workspace } });
        else void navigate({ to: "/workspaces/$workspace", params: { workspace: next }, search: { workspace } });
      },
      may: (need) => may(need, slug),
    };
  }, [answer, user, urlWorkspace, change, navigate, may]);
}

/** Writes a remembered workspace into the URL, and remembers the visited one for pages that need one. */
export function useWorkspaceInUrl(): void {
  const { answer, user } = useSession();
  const { slug } = useWorkspace();
  const [urlWorkspace] = useUrlText("workspace");
  const change = useUrlChange();
  const missing = urlWorkspace === "" && slug !== null && !hasOne(answer) ? slug : null;
  useEffect(() => {
    if (slug !== null) rememberVisit(user.id, slug);
    if (missing !== null) change({ workspace: missing });
  }, [slug, missing, user.id, change]);
}

/** The workspace for a page that needs one: the chosen one, else the last visited one, else the first. null: there is none. */
export function useOneWorkspace(): string | null {
  const { answer, user } = useSession();
  const { slug } = useWorkspace();
  return slug ?? existing(answer, rememberedWorkspace(user.id).visited) ?? answer.workspaces[0]?.slug ?? null;
}

/**
 * Administrators may view any workspace or all; others their own. Without one in the URL it is the remembered one, else all for an
 * administrator and the first for others. The only workspace is always chosen.
 */
export function chosenSlug(
  answer: SessionAnswer,
  requested: string,
  remembered: RememberedWorkspace["chosen"] = "",
): string | null {
  const mine = answer.workspaces;
  const name = requested === "" ? (existing(answer, remembered) ?? "") : requested;
  if (answer.user?.administrator === true) {
    if (hasOne(answer) && (name === "" || name === everyWorkspace)) return mine[0]?.slug ?? null;
    return name === "" || name === everyWorkspace ? null : name;
  }
  return (mine.find((each) => each.slug === name || each.id === name) ?? mine[0])?.slug ?? null;
}

function hasOne({ workspaces, workspaces_more: more }: SessionAnswer): boolean {
  return workspaces.length === 1 && more === undefined;
}

/** null: it was deleted, or the user has left it. */
function existing({ workspaces, workspaces_more: more }: SessionAnswer, slug: string): string | null {
  if (slug === "" || slug === everyWorkspace) return null;
  return more !== undefined || workspaces.some((each) => each.slug === slug) ? slug : null;
}

/** The list to which a detail page belongs, if its object is of one workspace: it is not in another one. */
function listOfDetailPage(path: string): "/keys" | "/media" | "/batches" | "/requests" | "/workspaces" | null {
  const [, list, id] = /\/console(\/\w+)\/([^/]+)/.exec(path) ?? [];
  // These are lists themselves.
  if (id === "assets" || id === "sessions") return null;
  if (list === "/media" || list === "/batches") return list;
  return list === "/keys" || list === "/requests" || list === "/workspaces" ? list : null;
}
