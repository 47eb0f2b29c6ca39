import { type Overrides, upstream } from "../../started-gateway.ts";

/** A model that makes pictures, paid by picture and by token. */
export const imageGateway: Overrides = {
  providers: (simulator) => [upstream("painter", simulator)],
  models: [
    {
      name: "paint-test",
      type: "image",
      deployments: [{ provider: "painter", upstream_model: "gpt-image-1" }],
      price: { input: 5, image_input: 10, image_output: 40, image: 0.01 },
    },
  ],
};
