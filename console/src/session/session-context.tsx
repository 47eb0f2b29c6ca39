import { meets, type Need, type SessionAnswer } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useMemo } from "react";

/** The signed-in user with their rights, for pages that require a sign-in. */
export interface Session {
  readonly answer: SessionAnswer;
  readonly user: NonNullable<SessionAnswer["user"]>;
  /**
   * Whether the user has `need` in a workspace (id or slug), or in any workspace if none is passed. This only hides controls; the
   * gateway checks again.
   */
  readonly may: (need: Need, workspace?: string | null) => boolean;
  /** Refetches the session, for example after a new name or a joined workspace. */
  readonly refresh: () => Promise<void>;
}

const SessionContext = createContext<Session | null>(null);
const AnswerContext = createContext<SessionAnswer | null>(null);

export function SessionProvider({
  answer,
  children,
}: {
  readonly answer: SessionAnswer;
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const session = useMemo<Session | null>(
    () =>
      answer.user === null
        ? null
        : {
            answer,
            user: answer.user,
            may: (need, workspace) => meets(heldIn(answer, workspace ?? null), need),
            refresh: () => queries.invalidateQueries({ queryKey: ["session.show"] }),
          },
    [answer, queries],
  );
  return (
    <AnswerContext value={answer}>
      <SessionContext value={session}>{children}</SessionContext>
    </AnswerContext>
  );
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error("useSession is used outside a signed-in page.");
  return session;
}

/** The public part of the gateway's session answer: sign-in methods and whether setup is complete. */
export function useSessionAnswer(): SessionAnswer {
  const answer = use(AnswerContext);
  if (answer === null) throw new Error("useSessionAnswer is used outside SessionProvider.");
  return answer;
}

/** The user's role in a workspace, or the highest role in any. */
export function heldIn(answer: SessionAnswer, workspace: string | null): Need {
  if (answer.user === null) return "public";
  if (answer.user.administrator) return "administrator";
  const roles = answer.workspaces
    .filter((each) => workspace === null || each.id === workspace || each.slug === workspace)
    .map((each): Need => each.role);
  return roles.reduce<Need>((most, role) => (meets(role, most) ? role : most), "signed-in");
}
