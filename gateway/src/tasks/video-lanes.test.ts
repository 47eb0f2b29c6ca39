import { expect, test } from "bun:test";
import { type Deployment, Failure, type VideoCapabilities } from "#core/index.ts";
import {
  arkDeployment,
  catOnRoof,
  createCall,
  openTaskSetup,
  openTaskWorld,
  resolved,
  seedance,
} from "../../test/simulation/task-setup.ts";
import { readVideoRequest } from "./accept/validate-video.ts";
import { checkCapabilities, supports } from "./video-lanes.ts";

const onEndpoint = (id: string, capabilities: Partial<VideoCapabilities>): Deployment =>
  arkDeployment(id, 1, { upstreamModel: "ep-20260101-x", capabilities });

const message = (body: object, deployments: readonly Deployment[]): [string | null, string] | null => {
  try {
    checkCapabilities([{ ...seedance, deployments }], readVideoRequest({ prompt: "x", ...body }));
    return null;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "invalid_request") return [thrown.param, thrown.message];
    throw thrown;
  }
};

test("refuses a value that no deployment supports, with all allowed values", () => {
  const deployments = [
    onEndpoint("a", { resolutions: ["480p", "720p"] }),
    onEndpoint("b", { resolutions: ["720p", "1080p"] }),
  ];
  expect(message({ resolution: "1080p" }, deployments)).toBeNull();
  expect(message({ resolution: "4k" }, deployments)).toEqual([
    "resolution",
    'The parameter "resolution" is "4k", which the model "seedance" does not support. Allowed: 480p, 720p, 1080p.',
  ]);
});

test.each([
  [{ ratio: "2:1" }, { ratios: ["16:9"] }, "ratio"],
  [{ duration: 20 }, { durationMin: 4, durationMax: 15 }, "duration"],
  [{ duration: 7 }, { durations: [5, 10] }, "duration"],
  [{ duration: -1 }, { durations: [5, 10] }, "duration"],
  [{ duration: -1 }, { durationMin: 2, durationMax: 12 }, "duration"],
  [{ audio: true }, { audio: false }, "audio"],
  [{ seed: 7 }, { seed: false }, "seed"],
  [{ image: "https://x.example/a.png" }, { firstFrame: false }, "image"],
  [{ last_frame: "https://x.example/a.png" }, { lastFrame: false }, "last_frame"],
  [{ references: ["https://x.example/a.png", "https://x.example/b.png"] }, { referencesMax: 1 }, "references"],
])("%p is refused where a deployment declares %p", (body, capabilities, param) => {
  expect(message(body, [onEndpoint("a", capabilities)])?.[0]).toBe(param);
  expect(message(body, [onEndpoint("a", {})])).toBeNull();
});

test("accepts -1 seconds, a random seed and an automatic ratio if the vendor supports them", () => {
  const vendor = [onEndpoint("a", { durations: [-1, 5], seed: false, ratios: ["16:9", "adaptive"], audio: false })];
  expect(message({ duration: -1, seed: -1, ratio: "auto", audio: false }, vendor)).toBeNull();
});

test("passes on a vendor's field that has the name of a property of every object", () => {
  expect(message({ constructor: "x" }, [onEndpoint("a", {})])).toBeNull();
});

test("a deployment's own capabilities override the adapter's", () => {
  const request = readVideoRequest({ prompt: "x", duration: 30 });
  const known = arkDeployment("a", 1, { upstreamModel: "doubao-seedance-1-0-pro-250528" });
  expect(supports(known, request)).toBe(false);
  expect(supports({ ...known, capabilities: { durationMax: 30 } }, request)).toBe(true);
});

test("skips a deployment that does not support the request", async () => {
  await using world = await openTaskWorld();
  const model = {
    ...seedance,
    deployments: [onEndpoint("small", { resolutions: ["480p"] }), { ...onEndpoint("large", {}), priority: 2 }],
  };
  const { videos } = openTaskSetup(world, { models: [model] });
  const made = await resolved(world.clock, videos.create(createCall(world, catOnRoof, { models: [model] })));
  expect(made.account?.providerId).toBe("large");
});

test("refuses a model that makes no videos", () => {
  const chat = arkDeployment("a", 1);
  const provider = { ...chat.provider, kind: "anthropic" };
  const act = () =>
    checkCapabilities([{ ...seedance, deployments: [{ ...chat, provider }] }], readVideoRequest({ prompt: "x" }));
  expect(act).toThrow("makes no videos");
});
