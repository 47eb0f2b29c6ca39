import { timeouts } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

timeouts(rerankEndpoint);
