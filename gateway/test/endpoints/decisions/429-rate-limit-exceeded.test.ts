import { rateLimits } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

rateLimits(decisionsEndpoint);
