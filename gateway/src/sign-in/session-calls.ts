import { z } from "zod";
import { Failure } from "#core/index.ts";
import { answerJson } from "./answers.ts";
import { type CallSpec, get, post, userView } from "./call.ts";
import type { Session } from "./sessions.ts";

const nothing = z.strictObject({});

/** The library's own calls for these hand out the tokens of sessions; ours know them by their ids. */
export const sessionCalls: readonly CallSpec[] = [
  post("/sign-out", "anybody", nothing, async (call) => {
    const { cookies } = await call.ask("/sign-out", { body: {} });
    if (call.session !== null) call.tell("signed-out", null, call.session.user);
    return answerJson({}, cookies);
  }),
  get("/account", "session", async (call) => {
    const session = call.signedIn;
    const ways = await call.dependencies.users.waysOf(session.user.id);
    return answerJson({
      user: userView(session),
      password: ways.password,
      two_factor: session.twoFactor,
      passkeys: ways.passkeys,
      oidc: ways.oidc,
      connections: (await call.dependencies.users.connectionsOf(session.user.id)).map((connection) => ({
        id: connection.id,
        provider: connection.provider,
        name: call.dependencies.issuers.account(connection.provider)?.name ?? null,
        issuer: connection.issuer,
        connected_at: connection.connectedAt,
      })),
      session: sessionView(session, session.id),
    });
  }),
  get("/sessions", "session", async (call) => {
    const session = call.signedIn;
    const list = await call.dependencies.sessions.list(session.user.id);
    return answerJson({ data: list.map((each) => sessionView(each, session.id)), next: null });
  }),
  post("/sessions/end", "session", z.strictObject({ id: z.string().min(1).max(128) }), async (call, { id }) => {
    const { user } = call.signedIn;
    if (!(await call.dependencies.sessions.end(user.id, id)))
      throw new Failure("not_found", "There is no such session.");
    call.tell("sessions-ended", null, user);
    return answerJson({ ended: 1 });
  }),
  post("/sessions/end-others", "session", nothing, async (call) => {
    const { user, id } = call.signedIn;
    const ended = await call.dependencies.sessions.endAll(user.id, id);
    call.tell("sessions-ended", null, user);
    return answerJson({ ended });
  }),
];

function sessionView(session: Session, currentId: string): object {
  return {
    id: session.id,
    current: session.id === currentId,
    fresh: session.fresh,
    created_at: session.createdAt,
    seen_at: session.seenAt,
    ends_at: session.endsAt,
    ip: session.ip,
    user_agent: session.userAgent,
  };
}
