import { expect } from "bun:test";
import { Secret } from "#core/index.ts";
import { type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

const password = "correct horse battery staple";
const administrator = "ada@example.com";

/** A user with a browser that is signed in to the console. */
export interface Person {
  readonly email: string;
  readonly userId: string;
  /** Sends a request like their browser. */
  readonly cookie: string;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer.
type Body = any;

export interface AgentFixture {
  readonly gateway: StartedGateway;
  readonly ada: Person;
  readonly workspace: string;
  /** Creates a user with a role in the workspace acme. */
  invited(name: string, role: string): Promise<Person>;
  /** Confirms a device code in a user's browser. */
  approve(person: Person, userCode: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startAgentFixture(overrides: Overrides = {}): Promise<AgentFixture> {
  const gateway = await startGateway({
    ...overrides,
    environment: {
      administrator: { email: administrator, password: new Secret(password) },
      ...overrides.environment,
    },
  });
  const origin = `http://localhost:${gateway.gateway.consolePort}`;
  const ada = await signedIn(origin, administrator);
  const { body } = await ada.call("GET", "/api/workspaces");
  const workspace: string = body.data.find(({ slug }: { slug: string }) => slug === "acme").id;
  return {
    gateway,
    ada,
    workspace,
    async invited(name, role) {
      const email = `${name}@example.com`;
      const invitation = await ada.call("POST", `/api/workspaces/${workspace}/invitations`, { email, role });
      const token = new URL(invitation.body.link).hash.replace("#invite=", "");
      const accepted = await callFrom(origin, "", "POST", "/api/invitation/accept", { token, name, password });
      expect(accepted.status).toBe(201);
      return await signedIn(origin, email);
    },
    approve: async (person, code) => (await person.call("POST", "/api/agents/approve", { code, workspace })).status,
    stop: () => gateway.stop(),
  };
}

async function signedIn(origin: string, email: string): Promise<Person> {
  const answer = await fetch(`${origin}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ email, password }),
  });
  expect(answer.status).toBe(200);
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .join("; ");
  const session = await callFrom(origin, cookie, "GET", "/api/session");
  return {
    email,
    userId: session.body.user.id,
    cookie,
    call: (method, path, body) => callFrom(origin, cookie, method, path, body),
  };
}

async function callFrom(origin: string, cookie: string, method: string, path: string, body?: unknown) {
  const response = await fetch(origin + path, {
    method,
    headers: {
      cookie,
      origin,
      "sec-fetch-site": "same-origin",
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
    },
    ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as Body };
}
