import { credentials } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

credentials(decisionsEndpoint);
