import { createHeaderSignIn, sessionHeader } from "../header-sign-in.ts";
import type { StartedGateway } from "../started-gateway.ts";

/** Made-up values that detectors find. */
export const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
export const email = "jane.doe@example.org";

type Role = "admin" | "viewer";

/** Creates one user for each role in the gateway's workspace. Returns their ids. */
export async function createMembers<const Wanted extends Role>(
  { gateway, control }: StartedGateway,
  roles: readonly Wanted[],
): Promise<Readonly<Record<Wanted, string>>> {
  const signIn = createHeaderSignIn(control.database, () => Date.now());
  const workspace = [...gateway.configSnapshot.current.workspaces.values()][0]?.id ?? "";
  const ids: [Wanted, string][] = [];
  for (const role of roles) {
    const { id } = await signIn.createUser({ email: `${role}@example.com`, name: role });
    await control.people.setMember(workspace, id, role, { actor: "test", ip: null });
    ids.push([role, id]);
  }
  return Object.fromEntries(ids) as Record<Wanted, string>;
}

/** Reads from the workspace's API as a user. The gateway signs in with `createHeaderSignIn`. */
export function readAs(userId: string, { url }: StartedGateway, path: string): Promise<Response> {
  return fetch(`${url}/api/workspaces/acme/${path}`, { headers: headersOf(userId, url) });
}

/** Sends JSON to it with POST. */
export function sendAs(userId: string, gateway: StartedGateway, path: string, body: object): Promise<Response> {
  return postAs(userId, gateway, `workspaces/acme/${path}`, body);
}

export function postAs(userId: string, { url }: StartedGateway, path: string, body: object): Promise<Response> {
  const headers = { ...headersOf(userId, url), "content-type": "application/json" };
  return fetch(`${url}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

export function getAs(userId: string, { url }: StartedGateway, path: string): Promise<Response> {
  return fetch(`${url}/api/${path}`, { headers: headersOf(userId, url) });
}

function headersOf(userId: string, url: string): Record<string, string> {
  return { origin: url, "sec-fetch-site": "same-origin", cookie: "session=of-a-test", [sessionHeader]: userId };
}
