import { expect, test } from "bun:test";
import { startAgentFixture } from "../agents/agent-fixture.ts";
import { ScriptedAgent } from "../agents/scripted-agent.ts";
import { claudeGateway } from "../endpoints/messages/claude-gateway.ts";
import { patch } from "./scim-fixture.ts";

test("after the directory deactivates a user, the next call of their agent, key and browser is refused", async () => {
  const fixture = await startAgentFixture(claudeGateway);
  try {
    const bob = await fixture.invited("bob", "member");
    const made = await fixture.ada.call("POST", "/api/tokens", { name: "directory", scim: true });
    expect(made.status).toBe(201);
    const scim = async (method: string, path: string, body: object) => {
      const answer = await fetch(`http://localhost:${fixture.gateway.gateway.consolePort}/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${made.body.secret}`, "content-type": "application/scim+json" },
        body: JSON.stringify(body),
      });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as { id: string; active: boolean };
    };
    const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
    const user = await scim("POST", "/Users", { schemas, userName: bob.email, active: true });
    expect(user.id).toBe(bob.userId);

    const agent = new ScriptedAgent(fixture.gateway.url);
    const { body: device } = await agent.device();
    expect(await fixture.approve(bob, device.user_code)).toBe(200);
    const tokens = (await agent.poll(device.device_code)).body;
    const { secret } = (await bob.call("POST", `/api/workspaces/${fixture.workspace}/keys`, { name: "bobs" })).body;
    for (const credential of [tokens.access_token, secret]) {
      expect((await agent.message(credential, "claude-test")).status).toBe(200);
    }

    const off = await scim("PATCH", `/Users/${user.id}`, patch({ op: "Replace", path: "active", value: "False" }));
    expect(off.active).toBe(false);
    for (const credential of [tokens.access_token, secret]) {
      expect((await agent.message(credential, "claude-test")).status).toBe(401);
    }
    expect((await agent.refresh(tokens.refresh_token)).status).toBe(401);
    expect((await bob.call("GET", "/api/agents")).status).toBe(401);
  } finally {
    await fixture.stop();
  }
});
