import { bounds } from "../bounds.ts";
import { type Dialect, Refusal } from "../dialect.ts";
import { jsonExchange } from "../json-exchange.ts";
import { arkError, arkHeaders } from "./ark-conventions.ts";

/** Sessions that verify a real person. Each yields one asset group, once. */
export interface LivenessSessions {
  open(session: Pick<LivenessSession, "account" | "project" | "callbackUrl">): string;
  link(base: string, token: string): string;
  /** Marks the session as verified when the person opens the link. Null for an expired token. */
  pass(token: string): LivenessSession | null;
  /** Returns a verified session and removes it. */
  take(account: string, token: string): LivenessSession | null;
}

interface LivenessSession {
  readonly account: string;
  readonly project: string;
  readonly callbackUrl: string;
  readonly openedAt: number;
  verified: boolean;
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
      sessions.set(token, { ...session, openedAt: Date.now(), verified: false });
      for (const oldest of sessions.keys()) {
        if (sessions.size <= bounds.livenessSessionsMax) break;
        sessions.delete(oldest);
      }
      return token;
    },
    link: (base, token) => `${base}/__sim/liveness/${token}`,
    pass(token) {
      const session = find(token);
      if (session !== null) session.verified = true;
      return session;
    },
    take(account, token) {
      const session = find(token);
      if (session === null || !session.verified || session.account !== account) return null;
      sessions.delete(token);
      return session;
    },
  };
}

/** The page of an H5Link. Opening it counts as verification and redirects to the caller's page. */
export function arkLiveness(sessions: LivenessSessions): Dialect {
  return {
    id: "ark-liveness",
    auxiliary: true,
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
