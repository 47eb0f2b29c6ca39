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

/** Options of the command line. */
export interface Options {
  readonly mode: "quick" | "full";
  /** Figures to measure. Empty: all. */
  readonly only: readonly FigureName[];
  /** Write a CPU profile of the gateway to the results. */
  readonly profile: boolean;
  /** Use the simulator as upstream. It is slower, and its events have no timestamps. */
  readonly simulator: boolean;
  /** A built executable to measure. null: the source. */
  readonly gateway: string | null;
  /** Also measure other gateways that are installed. */
  readonly peers: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [--quick] [--only name,name] [--gateway file]
                        [--peers] [--simulator] [--profile]

  --quick      Take about ten minutes instead of thirty; with --peers, fifteen instead of forty.
  --only       Measure only these figures: ${figureNames.join(", ")}.
  --gateway    Measure this executable, started with the argument serve, instead of the source.
  --peers      Also measure other installed gateways. Prints how to install missing ones.
  --simulator  Use the simulator as upstream. Skips the figures streams, translated and edit.
  --profile    Also write a CPU profile of the gateway to bench/results/profile. This slows it down.
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
  if (unknown !== undefined) throw new Error(`unknown figure ${unknown}; the figures are ${figureNames.join(", ")}`);
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
