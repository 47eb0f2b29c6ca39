import { rateLimits } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

rateLimits(translationsEndpoint);
