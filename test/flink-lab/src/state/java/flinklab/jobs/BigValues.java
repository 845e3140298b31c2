package flinklab.jobs;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

import java.util.SplittableRandom;

/** Keeps a payload of random bytes, which are a function of the key, and how often the key came. */
public class BigValues extends KeyedProcessFunction<String, Event, Event> {

    private static final long serialVersionUID = 1L;

    private final int bytes;
    private transient ValueState<byte[]> payload;
    private transient ValueState<Long> count;

    public BigValues(int bytes) {
        this.bytes = bytes;
    }

    @Override
    public void open(OpenContext context) {
        payload = getRuntimeContext().getState(new ValueStateDescriptor<>("payload", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(Event event, Context context, Collector<Event> out) throws Exception {
        byte[] value = new byte[bytes];
        new SplittableRandom(event.key.hashCode() * 31L + event.index).nextBytes(value);
        payload.update(value);
        count.update(1L);
        out.collect(event);
    }
}
