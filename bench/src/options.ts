import { parseArgs } from "node:util";

const figureNames = [
  "start",
  "rest",
  "small",
  "large",
  "latency",
  "first-byte",
  "loop",
  "hostile",
  "edit",
  "streams",
  "translated",
  "catalog",
  "console",
  "shared",
  "changes",
  "workers",
  "peers",
] as const;
export type FigureName = (typeof figureNames)[number];

/** What was asked for on the command line. */
export interface Options {
  readonly mode: "quick" | "full";
  /** Figures to take; empty: all. */
  readonly only: readonly FigureName[];
  /** Leave a processor profile of the gateway beside the results. */
  readonly profile: boolean;
  /** The simulator as upstream: slower, and its streams say nothing of when an event was sent. */
  readonly simulator: boolean;
  /** A built executable to measure instead of the source; null: the source. */
  readonly gateway: string | null;
  /** Ask the other gateways too that are installed. */
  readonly peers: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [--quick] [--only name,name] [--gateway file]
                        [--peers] [--simulator] [--profile]

  --quick     about ten minutes; without it thirty; with --peers fifteen and forty
  --only      some figures: ${figureNames.join(", ")}
  --gateway   an executable to measure instead of the source, started with the argument serve
  --peers     also the figure peers: other gateways where they are installed; it says how those are that are not
  --simulator the simulator as upstream instead of the light one; without the figures streams, translated, edit
  --profile   also leave a processor profile of the gateway in bench/results/profile; slows it down
`;

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      gateway: { type: "string" },
      simulator: { type: "boolean", default: false },
      peers: { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",").filter((name) => name !== "");
  const unknown = only.find((name) => !figureNames.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no figure ${unknown}; there are ${figureNames.join(", ")}`);
  return {
    mode: values.quick ? "quick" : "full",
    only: figureNames.filter((name) => only.includes(name)),
    peers: values.peers,
    profile: values.profile,
    simulator: values.simulator,
    gateway: values.gateway ?? null,
    help: values.help,
  };
}
