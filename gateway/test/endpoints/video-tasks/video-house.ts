import { aliceKey, type Overrides, upstream } from "../../started-house.ts";

export const strangerKey = "sk-stranger-0123456789abcdefg";

/** A model of videos behind an account of Ark, with its asset library; a second workspace beside the first. */
export const videoHouse: Overrides = {
  providers: (simulator) => [
    upstream("volc", simulator, {
      kind: "ark",
      settings: {
        access_key_id: "AKTESTEXAMPLE",
        secret_access_key: "SecretKeyExample==",
        openapi_url: new URL("/", simulator.url).href,
      },
    }),
  ],
  models: [
    {
      name: "clip-test",
      type: "video",
      deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
      price: { output: 6 },
    },
  ],
  keys: [{ name: "alice", secret: aliceKey }],
};

export const ask = {
  model: "clip-test",
  prompt: "a boat on a lake",
  ratio: "16:9",
  duration: 5,
  resolution: "720p",
  audio: false,
  watermark: false,
  seed: -1,
};
