import { rateLimits } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

rateLimits(moderationsEndpoint);
