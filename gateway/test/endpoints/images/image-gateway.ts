import { type Overrides, upstream } from "../../started-gateway.ts";

/** Provider types that know OpenAI's own image models. */
const kinds = ["openai", "azure-openai"] as const;

function imageModel(name: string, provider: string, upstream_model: string) {
  return { name, type: "image" as const, deployments: [{ provider, upstream_model }], price: { image: 0.01 } };
}

/** Image models that are charged by picture and by token. */
export const imageGateway: Overrides = {
  providers: (simulator) => [
    upstream("painter", simulator),
    ...kinds.map((kind) => upstream(kind, simulator, { kind })),
  ],
  models: [
    {
      name: "paint-test",
      type: "image",
      deployments: [{ provider: "painter", upstream_model: "gpt-image-1" }],
      price: { input: 5, image_input: 10, image_output: 40, image: 0.01 },
    },
    ...kinds.flatMap((kind) => [
      imageModel(`paint-${kind}`, kind, "gpt-image-1"),
      imageModel(`paint-${kind}-old`, kind, "dall-e-3"),
    ]),
  ],
};
