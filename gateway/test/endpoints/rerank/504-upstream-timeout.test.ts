import { timeouts } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

timeouts(rerankEndpoint);
