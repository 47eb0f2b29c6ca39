import { timeouts } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

timeouts(moderationsEndpoint);
