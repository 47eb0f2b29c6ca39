import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { ResponsesWebSocketSession } from "openai/lib/responses/responses-websocket-session";
import { ResponsesWS } from "openai/resources/responses/ws";
import { until } from "../until.ts";
import { matrixConfig } from "./matrix/upstreams.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/** Responses over a WebSocket with OpenAI's official SDK and a started gateway. */
let setup: TestSetup;
beforeAll(async () => {
  setup = await openSetup((simulatorUrl) => matrixConfig(simulatorUrl, []));
});
afterAll(() => setup?.close());

describe.each(["responses", "anthropic", "gemini", "chat"])("OpenAI's SDK on %s", (upstream) => {
  const model = `matrix/${upstream}/main`;

  test("creates a response, continues it, and reads two lanes in parallel", async () => {
    const client = new OpenAI({ apiKey: keys.main, baseURL: `${setup.gateway.url}/v1`, maxRetries: 0 });
    const socket = new ResponsesWS(client);
    const session = new ResponsesWebSocketSession(socket, {
      maxLanes: 4,
      maxBufferedEvents: 4_096,
      maxBufferedBytes: 1 << 22,
    });
    try {
      await until(() => socket.socket.readyState === 1);
      const lane = session.lane();
      lane.create({ model, store: false, input: 'hello [[sim {"tokens":3}]]' });
      const first = await lane.finalResponse();
      expect([first.status, first.output_text.trim()]).toEqual(["completed", "the quick brown"]);
      lane.create({ model, store: false, previous_response_id: first.id, input: 'continue [[sim {"tokens":2}]]' });
      expect((await lane.finalResponse()).status).toBe("completed");
      const lanes = ["one", "two"].map((name) => session.lane(name));
      for (const lane of lanes) lane.create({ model, store: false, input: 'in parallel [[sim {"tokens":2}]]' });
      const answers = await Promise.all(lanes.map((lane) => lane.finalResponse()));
      expect(answers.map(({ status }) => status)).toEqual(["completed", "completed"]);
    } finally {
      session.close();
      socket.close();
    }
  });
});
