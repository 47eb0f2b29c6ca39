import type { AnswerOf } from "@sluice/contract";
import { password, type SignedInUser, signInAs } from "../signed-in-user.ts";

export interface Tenants {
  /** Secrets by the name of their key. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Ids by the name of their key. */
  readonly keys: Readonly<Record<string, string>>;
  /** User ids by email address. */
  readonly people: Readonly<Record<string, string>>;
  /** Id of a pending key request. */
  readonly keyRequest: string;
}

/** One user in each role of the workspace acme, by email address. */
const people = {
  viewer: "vera@example.com",
  member: "max@example.com",
  admin: "anna@example.com",
  owner: "olga@example.com",
} as const;

const names: Readonly<Record<string, string>> = {
  viewer: "Vera Lindqvist",
  member: "Max Okafor",
  admin: "Anna Brandt",
  owner: "Olga Petrova",
};

/** Two workspaces, people in every role, keys in every state, alert rules and guardrails. */
export async function addTenants({ call }: SignedInUser, url: string): Promise<Tenants> {
  await call("workspaces.create", {
    body: { slug: "acme", name: "Acme Robotics", limits: { rpm: 600 }, budget: { usd: 500, period: "month" } },
  });
  await call("workspaces.create", { body: { slug: "northwind", name: "Northwind Labs", models: ["gpt-*"] } });
  const acme = { workspace: "acme" };
  const params = { workspace: "acme", group: "default" };
  for (const model of ["claude-sonnet-5-5", "claude-opus-4-7"]) {
    const permissions = { ask: ["Bash(git push *)"], deny: ["Read(./.env)", "Read(./secrets/**)"] };
    await call("agents.setSettings", {
      params,
      body: { settings: { model, availableModels: [model], permissions, env: { TEAM: "acme" }, welcome: "Hello" } },
    });
  }
  await call("groups.create", {
    params: acme,
    body: { name: "agents", models: ["gpt-*", "claude-*"], limits: { rpm: 120, concurrency: 20 } },
  });
  await call("groups.create", {
    params: acme,
    body: { name: "interns", models: ["gpt-5-mini"], budget: { usd: 5, period: "day" } },
  });
  for (const [role, email] of Object.entries(people)) {
    await join(url, call, email, role as keyof typeof people, names[role] ?? email);
  }
  await call("invitations.create", { params: acme, body: { email: "piotr@example.com", role: "member" } });
  const keys = await addKeys(call);
  await addAlerts(call);
  await addGuardrails(call);
  await addBudgetPolicies(call);
  const { data } = await call("members.list", { params: acme });
  const keyRequest = await addKeyRequests(await signInAs(url, people.viewer));
  return { ...keys, keyRequest, people: Object.fromEntries(data.map(({ email, id }) => [email, id])) };
}

async function join(
  url: string,
  call: SignedInUser["call"],
  email: string,
  role: keyof typeof people,
  name: string,
): Promise<void> {
  const { link } = await call("invitations.create", { params: { workspace: "acme" }, body: { email, role } });
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("invite");
  const answer = await fetch(`${url}/api/invitation/accept`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, name, password }),
  });
  if (!answer.ok) throw new Error(`${email} could not accept: ${await answer.text()}`);
}

async function addKeys(call: SignedInUser["call"]): Promise<Pick<Tenants, "secrets" | "keys">> {
  const secrets: Record<string, string> = {};
  const keys: Record<string, string> = {};
  const make = async (workspace: string, body: { name: string; [field: string]: unknown }) => {
    const answer: AnswerOf<"keys.create"> = await call("keys.create", { params: { workspace }, body });
    secrets[body.name] = answer.secret;
    keys[body.name] = answer.key.id;
  };
  await make("acme", { name: "checkout service", tags: { team: "payments", env: "production" }, capture: "bodies" });
  const { user } = await call("session.show", {});
  await make("acme", {
    name: "coding agents",
    owner: user?.id,
    group: "agents",
    limits: { rpm: 60 },
    budget: { usd: 50, period: "week" },
  });
  await make("acme", { name: "film studio", tags: { team: "brand" } });
  await make("acme", { name: "support bot", group: "interns", limits: { rpm: 3 } });
  await make("acme", { name: "summer intern", group: "interns", budget: { usd: 0.000_001, period: "day" } });
  await make("acme", { name: "old laptop" });
  await make("acme", { name: "paused batch" });
  await make("acme", { name: "one-day trial", expires_at: Date.now() + 1_500 });
  await make("northwind", { name: "notebook" });
  const acme = (name: string) => ({ workspace: "acme", key: keys[name] ?? "" });
  await call("keys.revoke", { params: acme("old laptop") });
  await call("keys.update", { params: acme("paused batch"), body: { enabled: false } });
  return { secrets, keys };
}

/** A withdrawn request, and a pending one, returned by its id. */
async function addKeyRequests({ call }: SignedInUser): Promise<string> {
  const params = { workspace: "acme" };
  const wanted = { name: "nightly evaluations", group: "agents", models: ["gpt-5*"], limits: { rpm: 30 } };
  const purpose = "Compare models every night.\nNeeds the group agents, because the default group has no GPT-5.";
  const { id } = await call("keyRequests.create", { params, body: { ...wanted, purpose: "A first try" } });
  await call("keyRequests.withdraw", { params: { ...params, request: id } });
  const body = { ...wanted, purpose, budget: { usd: 40, period: "month" as const } };
  return (await call("keyRequests.create", { params, body })).id;
}

async function addAlerts(call: SignedInUser["call"]): Promise<void> {
  const params = { workspace: "acme" };
  const send = { quiet_hours: null, repeat_hours: null, send_resolved: true, muted_until: null };
  const budgets = { kind: "budget", scope: null, scope_id: null } as const;
  const webhook = { kind: "webhook", url: "https://hooks.example.com/budget" } as const;
  const mail = { kind: "email", to: ["finance@example.com"] } as const;
  const add = async (name: string, target: typeof webhook | { kind: "email"; to: string[] }) =>
    (await call("alertChannels.create", { params, body: { name, target, language: "en", enabled: true } })).id;
  const channels = [await add("Budget channel", webhook), await add("Finance", { ...mail, to: [...mail.to] })];
  const month = { ...send, name: "Budget of the month", enabled: true, channels };
  await call("alertRules.create", { params, body: { ...month, condition: { ...budgets, percent: [50, 80, 100] } } });
  const quiet_hours = { from: "22:00", to: "07:00", time_zone: "Europe/Berlin" };
  const late = { ...send, name: "Slow answers", enabled: false, channels: [], quiet_hours };
  const condition = { kind: "latency", ms: 20_000, minutes: 15, min_requests: 20 } as const;
  await call("alertRules.create", { params, body: { ...late, condition } });
}

async function addBudgetPolicies(call: SignedInUser["call"]): Promise<void> {
  const acme = { workspace: "acme" };
  await call("budgets.create", {
    params: acme,
    body: {
      ...{ name: "per-team", usd: 20, period: "day", time_zone: "Europe/Berlin", split_by: "tag:team" },
      increase: { usd: 10, until: "2099-01-01T00:00:00Z", reason: "launch" },
    },
  });
  await call("budgets.create", {
    params: acme,
    body: { name: "costly-models", usd: 2, period: "week", rolling: true, match: { models: ["gpt-*"] } },
  });
}

async function addGuardrails(call: SignedInUser["call"]): Promise<void> {
  await call("guardrails.create", {
    params: { workspace: "-" },
    body: { name: "block-credentials", check: { kind: "credentials" }, action: "block", enforce: false },
  });
  const acme = { workspace: "acme" };
  const types = ["email" as const, "phone" as const, "card" as const, "iban" as const];
  const { data: groups } = await call("groups.list", { params: acme });
  await call("guardrails.create", {
    params: acme,
    body: {
      ...{ name: "mask-personal-data", check: { kind: "personal_data", types }, action: "mask", enforce: false },
      groups: groups.filter(({ name }) => name === "interns").map(({ id }) => id),
    },
  });
  await call("guardrails.create", {
    params: acme,
    body: {
      ...{ name: "project-names", check: { kind: "words", words: ["Falcon", "Osprey"] } },
      ...{ action: "flag", enabled: false },
    },
  });
}
