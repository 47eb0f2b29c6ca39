import { rateLimits } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

rateLimits(rerankEndpoint);
