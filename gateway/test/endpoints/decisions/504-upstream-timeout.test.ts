import { timeouts } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

timeouts(decisionsEndpoint);
