import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/**
 * Lets RocksDB write a large database as a state backend of Flink has it, reads all of it with RocksDB's iterator, and prints
 * "entries bytes milliseconds" of that. Arguments: the directory for the files of its checkpoint, the number of entries, bytes
 * of each value, a compression.
 */
public final class WriteBigDatabase {

    public static void main(String[] args) throws Exception {
        RocksDB.loadLibrary();
        Path out = Paths.get(args[0]);
        int entries = Integer.parseInt(args[1]);
        int valueBytes = Integer.parseInt(args[2]);
        Path place = Files.createTempDirectory(out.getParent(), "database");
        ColumnFamilyOptions family =
                new ColumnFamilyOptions()
                        .setMergeOperatorName("stringappendtest")
                        .setCompressionType(CompressionType.valueOf(args[3]))
                        .setTableFormatConfig(new BlockBasedTableConfig());
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        List<ColumnFamilyDescriptor> descriptors =
                List.of(
                        new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY),
                        new ColumnFamilyDescriptor("count".getBytes(StandardCharsets.UTF_8), family));
        DBOptions options = new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        try (RocksDB rocks = RocksDB.open(options, place.resolve("db").toString(), descriptors, handles)) {
            ColumnFamilyHandle count = handles.get(1);
            fill(rocks, count, entries, valueBytes);
            try (Checkpoint checkpoint = Checkpoint.create(rocks)) {
                checkpoint.createCheckpoint(place.resolve("checkpoint").toString());
            }
            System.out.println(readAll(rocks, count));
            for (ColumnFamilyHandle handle : handles) handle.close();
        }
        Files.createDirectories(out);
        try (Stream<Path> files = Files.list(place.resolve("checkpoint"))) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = file.getFileName().toString();
                if (name.endsWith(".log")) continue;
                Files.move(file, out.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        try (Stream<Path> files = Files.walk(place)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) Files.delete(file);
        }
    }

    /** Keys of 128 key groups in random order, as a job would put them; a tenth of them twice. */
    private static void fill(RocksDB rocks, ColumnFamilyHandle family, int entries, int valueBytes) throws Exception {
        Random random = new Random(7);
        byte[] value = new byte[valueBytes];
        try (WriteOptions unlogged = new WriteOptions().setDisableWAL(true)) {
            for (int i = 0; i < entries; i++) {
                int number = (int) ((i * 2654435761L & 0x7fffffffL) % (entries * 9L / 10));
                byte[] key = String.format("\0user-%010d\0", number).getBytes(StandardCharsets.UTF_8);
                key[0] = (byte) (number & 127);
                // Half of it random letters, half of it the same everywhere: snappy makes about two thirds of it.
                for (int at = 0; at < valueBytes; at++) {
                    value[at] = (byte) (at % 16 < 8 ? 'a' + random.nextInt(26) : 'x');
                }
                rocks.put(family, unlogged, key, value);
            }
        }
        rocks.flush(new FlushOptions().setWaitForFlush(true), family);
    }

    private static String readAll(RocksDB rocks, ColumnFamilyHandle family) throws Exception {
        long start = System.nanoTime();
        long count = 0;
        long bytes = 0;
        try (ReadOptions options = new ReadOptions().setReadaheadSize(2 * 1024 * 1024);
                RocksIterator entries = rocks.newIterator(family, options)) {
            for (entries.seekToFirst(); entries.isValid(); entries.next()) {
                count++;
                bytes += entries.key().length + entries.value().length;
            }
            entries.status();
        }
        return count + " " + bytes + " " + (System.nanoTime() - start) / 1_000_000;
    }
}
