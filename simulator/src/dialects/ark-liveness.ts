import { bounds } from "../bounds.ts";
import { type Dialect, Refusal } from "../dialect.ts";
import { jsonExchange } from "../json-exchange.ts";
import { arkError, arkHeaders } from "./ark-conventions.ts";

/** Sessions in which a real person shows that they are one; each gives one group, once. */
export interface LivenessSessions {
  open(session: Pick<LivenessSession, "account" | "project" | "callbackUrl">): string;
  link(base: string, token: string): string;
  /** The person has followed the link. Null for a token that is not good any more. */
  pass(token: string): LivenessSession | null;
  /** A session that was passed, and with that used up. */
  take(account: string, token: string): LivenessSession | null;
}

interface LivenessSession {
  readonly account: string;
  readonly project: string;
  readonly callbackUrl: string;
  readonly openedAt: number;
  passed: boolean;
}

const lifeMs = 30 * 60_000;
const pathPattern = /\/__sim\/liveness\/([^/]+)$/;

export function createLivenessSessions(): LivenessSessions {
  const sessions = new Map<string, LivenessSession>();

  function find(token: string): LivenessSession | null {
    const session = sessions.get(token);
    return session !== undefined && Date.now() - session.openedAt < lifeMs ? session : null;
  }

  return {
    open(session) {
      const token = crypto.randomUUID().replaceAll("-", "");
      sessions.set(token, { ...session, openedAt: Date.now(), passed: false });
      for (const oldest of sessions.keys()) {
        if (sessions.size <= bounds.livenessSessionsMax) break;
        sessions.delete(oldest);
      }
      return token;
    },
    link: (base, token) => `${base}/__sim/liveness/${token}`,
    pass(token) {
      const session = find(token);
      if (session !== null) session.passed = true;
      return session;
    },
    take(account, token) {
      const session = find(token);
      if (session === null || !session.passed || session.account !== account) return null;
      sessions.delete(token);
      return session;
    },
  };
}

/** The page behind an H5Link. Whoever opens it is taken for the person, and sent on to the caller's page. */
export function arkLiveness(sessions: LivenessSessions): Dialect {
  return {
    id: "ark-liveness",
    aside: true,
    matches: ({ method, path }) => method === "GET" && pathPattern.test(path),
    read(request) {
      const session = sessions.pass(pathPattern.exec(request.path)?.[1] ?? "");
      if (session === null) throw new Refusal(404, "This link is not valid any more.");
      if (!URL.canParse(session.callbackUrl))
        return jsonExchange({ model: "liveness", act: () => ({ resultCode: 10000 }) });
      const next = new URL(session.callbackUrl);
      next.searchParams.set("resultCode", "10000");
      return jsonExchange({ model: "liveness", status: 302, rows: [["location", next.href]], act: () => undefined });
    },
    headers: arkHeaders,
    error: arkError,
  };
}
