// `npm start`: installs, builds the console and starts the gateway. Other arguments go to the gateway's command line unchanged.
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { runGateway } from "./run-gateway.mjs";

const parent = process.ppid;
install();
const words = process.argv.slice(2);
if ((words[0] === "serve" || words[0] === "demo") && !words.includes("--help") && !buildConsole()) {
  console.error("sluice: could not build the console; starting the gateway without it.");
}
runGateway({
  runtime: bun,
  program: join(root, "gateway", "src", "cli", "cli.ts"),
  words,
  environment: bunEnvironment,
  npm: process.env.npm_package_json === join(root, "package.json") ? parent : null,
});
