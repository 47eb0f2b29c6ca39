import { tooLargeBodies } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

tooLargeBodies(decisionsEndpoint);
