import { rateLimits } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

rateLimits(completionsEndpoint);
