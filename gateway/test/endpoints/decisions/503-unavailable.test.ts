import { unavailable } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

unavailable(decisionsEndpoint);
